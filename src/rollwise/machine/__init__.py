"""The machine room: memory, cores, time, files and interrupts, independent of games."""
