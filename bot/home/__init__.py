"""What App Home shows, to each person."""
