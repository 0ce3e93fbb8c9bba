// Package simulate has no code of its own: its tests run the whole system where time is
// virtual. Clients on one store, users, liquidity providers, a watchtower and the
// local network live in one bubble of testing/synctest, on transports in memory, and
// one seed decides every fault. What must hold is checked all the time, and the
// accounts of everybody at the end. See docs/proof.md.
//
//	go test ./e2e/simulate -run TestSimulate -simulate.for 10m   # as many seeds as that takes
//	go test ./e2e/simulate -run TestSimulate -simulate.seed 42 -v
package simulate
