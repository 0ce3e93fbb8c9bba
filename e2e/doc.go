// Package e2e has no code of its own: its tests take swaps from the quote to
// their end on a local network of real parts, through the public operations.
package e2e
