// Package figures measures the operations on the local network, and holds no
// other code than its benchmarks. docs/benchmarks.md has the commands and what
// came of them.
package figures
