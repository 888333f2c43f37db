"""What every reader of alert posts shares. Imports nothing of bot.alerts, where the senders' own readers stand."""
