"""`python -m bot` is `proofthread`."""

from bot.cli import main

main()
