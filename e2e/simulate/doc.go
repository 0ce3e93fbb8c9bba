// Package simulate has no code of its own: its tests run the whole system where time is
// virtual.
package simulate
