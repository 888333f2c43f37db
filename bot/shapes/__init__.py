"""What Slack takes: the shape and the limits of blocks, views, chunks and Web API arguments, as data."""
