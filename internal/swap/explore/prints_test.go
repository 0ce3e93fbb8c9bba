package explore

import (
	"slices"
	"sync"
	"testing"
)

// prints holds two bits for each of very many keys, in some 15 bytes: a key is known by 70
// bits of its hash, of which 8 say in which part it is, so that among 100 million keys
// one is taken for another with a chance of one in 200,000. Many may use it at once.
type prints struct{ parts [256]printsPart }

type printsPart struct {
	sync.RWMutex
	n     int
	slots []uint64 // 62 bits and the value, which is not 0; 0: free
}

const valueOf = 3

// at returns the slot of a key, or the free one where it belongs.
func (p *printsPart) at(print uint64) int {
	for i := int(print >> 8 % uint64(len(p.slots))); ; i++ {
		if i == len(p.slots) {
			i = 0
		}
		if s := p.slots[i]; s == 0 || s&^valueOf == print&^valueOf {
			return i
		}
	}
}

// of returns the value of a key, 0 if it has none.
func (p *prints) of(k key) uint8 {
	part := &p.parts[uint8(k[1])]
	part.RLock()
	defer part.RUnlock()
	if part.n == 0 {
		return 0
	}
	return uint8(part.slots[part.at(k[0])] & valueOf)
}

// add adds bits to the value of a key, or gives it one.
func (p *prints) add(k key, bits uint8) { p.set(k, bits, true) }

// put sets the value of a key: 1, 2 or 3.
func (p *prints) put(k key, value uint8) { p.set(k, value, false) }

func (p *prints) set(k key, value uint8, keep bool) {
	part := &p.parts[uint8(k[1])]
	part.Lock()
	defer part.Unlock()
	if part.n >= len(part.slots)/4*3 {
		part.grow()
	}
	s := &part.slots[part.at(k[0])]
	if *s == 0 {
		part.n++
	}
	old := *s & valueOf
	if !keep {
		old = 0
	}
	*s = k[0]&^valueOf | old | uint64(value)
}

func (p *printsPart) grow() {
	all := p.slots
	p.slots = make([]uint64, max(16, len(all)*3/2))
	for _, s := range all {
		if s != 0 {
			p.slots[p.at(s)] = s
		}
	}
}

// len is how many keys have a value.
func (p *prints) len() (n int) {
	for i := range p.parts {
		n += p.parts[i].n
	}
	return n
}

// What is put is found, as in a map.
func TestPrints(t *testing.T) {
	var p prints
	want := map[key]uint8{}
	for i := range 100_000 {
		k := hashed([]byte{byte(i), byte(i >> 8 & 63), byte(i >> 13)}) // some twice
		if v := uint8(1 + i%3); i%2 == 0 {
			p.put(k, v)
			want[k] = v
		} else {
			p.add(k, v)
			want[k] |= v
		}
	}
	if p.len() != len(want) {
		t.Errorf("%d keys are held, and %d were put", p.len(), len(want))
	}
	for k, v := range want {
		if got := p.of(k); got != v {
			t.Fatalf("a key has %d, and should have %d", got, v)
		}
	}
	for _, k := range slices.Repeat([]key{{1, 2}, {5, 6}}, 2) {
		if p.of(k) != 0 {
			t.Error("a key has a value that was never put")
		}
	}
}
