"""The picture under a report: what it shows, and how it is drawn."""
