// Package outside makes swaps as a new user does: it builds and starts examples/devnet and
// examples/server as processes, and uses them by the command line alone, by HTTP requests alone,
// and by the shell script of docs/integrate.md.
package outside
