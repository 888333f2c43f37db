"""Reading log files: find them, know their format, cut them to a window, count templates, compare with before."""
