"""The machine room: memory, cores, time, files and interrupts. Nothing here knows a game."""
