// Package recovery rebuilds the swaps of a signer from what a chain shows, and
// reads the records of the reference service.
package recovery
