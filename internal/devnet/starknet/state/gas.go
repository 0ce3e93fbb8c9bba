package state

// What a contract asks of the network, in l2 gas.
const (
	gasRead      = 10_000
	gasWrite     = 10_000
	gasCall      = 90_000
	gasEvent     = 10_000
	gasEventFelt = 5_120
	gasDeploy    = 150_000
)
