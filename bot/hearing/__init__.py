"""What a message starts."""
