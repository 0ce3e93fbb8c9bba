package nostr

// ring remembers the last distinct ids that it was given. One that comes again
// keeps its place (protocol: utilities.md §14).
type ring struct {
	ids  []string // in use up to its length; a slot is written again once it is full
	next int
	size int
	in   map[string]bool
}

func newRing(size int) *ring { return &ring{size: size, in: make(map[string]bool)} }

func (r *ring) has(id string) bool { return r.in[id] }

// add reports whether the id is new.
func (r *ring) add(id string) bool {
	if r.in[id] {
		return false
	}
	if len(r.ids) < r.size {
		r.ids = append(r.ids, id)
	} else {
		delete(r.in, r.ids[r.next])
		r.ids[r.next] = id
		r.next = (r.next + 1) % r.size
	}
	r.in[id] = true
	return true
}
