// Package scale has no code of its own: its tests show what holds with many swaps and
// with several processes on one database, on a local network of real parts. Each has a
// small size, which go test ./... runs, and a full one, which is a command:
//
//	go test ./e2e/scale -run TestChaos -scale full -timeout 3h -v
//	go test ./e2e/scale -run TestSoak/bolt -scale full -timeout 2h -v
//	go test ./e2e/scale -run TestSoak/postgres -scale full -timeout 2h -v
//	go test ./e2e/scale -run TestPages -scale full -timeout 2h -v
//
// -swaps and -for set the number of swaps and how long a soak lasts by themselves. What
// needs PostgreSQL starts the server of the machine; without one it is skipped, and says so.
//
// TestChaos: three processes share the swaps while they are killed, paused beyond their
// leases and cut off from the database, and while the database itself is killed.
// TestSoak: one process follows very many swaps while a third of all requests fail.
// TestPages: pages of lists with very many swaps in the store.
//
// The benchmarks measure the operations, and what a service takes, on the same network.
// docs/benchmarks.md has their commands and what came of them.
package scale
