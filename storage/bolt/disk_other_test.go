//go:build unix && !linux

package bolt

// failingDisk is for Linux, which lets a process answer its own system calls.
func failingDisk(string) {}
