"""What a click under an answer does."""
