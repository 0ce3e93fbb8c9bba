// Package e2e has no code of its own: its tests take swaps from the quote to
// their end on a local network of real parts, through the public operations.
//
// TestKilled takes each flow to its end once for every point at which its process
// can be lost: the process, which is this test's binary, kills itself before or
// after a write to the store or an effect on the world, and another one goes on
// with the same store. -run 'TestKilled/TO_BTC$' is one flow, -v tells the points.
package e2e
