package storage

// labelled is how much of an id a label shows.
const labelled = 16

// Label is how errors and logs name an entry: the beginning of its id, never the
// whole, because whoever knows a swap's id can act on it. It is enough to find the
// entry in a store.
func Label(id string) string {
	if n := min(labelled, (len(id)+1)/2); n < len(id) {
		return id[:n] + "..."
	}
	return id
}
