package watchtower_test

import (
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/storage/storagetest"
	"github.com/swapper-go/swapper/watchtower"
)

// Several towers on one store claim each thing once, whichever of them it was handed to, and
// another goes on when the one that has claimed is gone.
func TestSeveralTowersShareTheWork(t *testing.T) {
	k := newKit(t, families[0])
	k.store = &struct {
		storagetest.Memory
		storagetest.MemoryLeases
	}{}
	before := k.native(k.signer.Address())
	first, stop := k.tower(k.config())
	second, _ := k.tower(k.config())
	for n, tower := range []*watchtower.Tower{first, second, second} {
		if n == 2 {
			stop()
		}
		secret := chains.Preimage{9, byte(n)}
		data := k.open(t, opening{secret: secret, bounty: k.fair})
		if err := tower.Publish(t.Context(), k.message(data, secret)); err != nil {
			t.Fatal(err)
		}
		k.eventually("claimed", func() bool { k.mine(t); return k.state(data) == chains.EscrowClaimed })
		k.eventually("entered into the books", func() bool { k.mine(t); return k.book(second).Claims == uint64(n+1) })
	}
	if b := k.book(second); b.Lost != 0 {
		t.Errorf("claimed twice: %+v", b)
	}
	k.balanced(second, before)
}
