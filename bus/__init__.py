"""How messages move and are kept: ledger, inboxes, watcher, delivery."""
