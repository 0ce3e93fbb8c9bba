package storage

// labelled is how much of an id a label shows.
const labelled = 16

// Label returns a name of an entry for errors and logs: the beginning of its
// id. The whole id must not be shown, because the id of a swap grants access to
// it; the beginning is enough to find the entry in a store.
func Label(id string) string {
	if n := min(labelled, (len(id)+1)/2); n < len(id) {
		return id[:n] + "..."
	}
	return id
}
