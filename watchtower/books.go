package watchtower

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/storage"
)

// Book says what claims on a chain have cost and earned, of those that have ended. Amounts are
// base units.
type Book struct {
	Chain  string              `json:"chain"`
	Spent  *big.Int            `json:"spent"`  // paid to the network, in the native token
	Earned map[string]*big.Int `json:"earned"` // by the token's address
	Claims uint64              `json:"claims"` // that were executed
	Lost   uint64              `json:"lost"`   // that cost something and earned nothing
	Left   uint64              `json:"left"`   // that others made or that became impossible, at no cost
}

// book is a Book as it is stored. A record is entered, and then deleted: whoever is killed in
// between finds its seed here, and does not enter it again.
type book struct {
	Book
	Last string      `json:"last"` // id of the record that was entered last
	Seed chains.Seed `json:"seed"`
}

func (c *claimer) bookName() string { return index + "/" + c.id + "/book" }

func (c *claimer) book(ctx context.Context) (b book, version uint64, err error) {
	text, version, err := c.config.Store.Note(ctx, c.bookName())
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return b, version, fmt.Errorf("the books of %s: %w", c.id, err)
	}
	b.Chain, b.Spent = c.id, bigs.OrZero(b.Spent)
	if b.Earned == nil {
		b.Earned = map[string]*big.Int{}
	}
	return b, version, nil
}

// Books returns what was spent and earned, by chain in the order of the configuration.
func (t *Tower) Books(ctx context.Context) ([]Book, error) {
	all := make([]Book, len(t.on))
	for i, on := range t.on {
		b, _, err := on.book(ctx)
		if err != nil {
			return nil, err
		}
		all[i] = b.Book
	}
	return all, nil
}

// finish deletes the record that was entered last.
func (c *claimer) finish(ctx context.Context) error {
	b, _, err := c.book(ctx)
	if err != nil || b.Last == "" {
		return err
	}
	e, err := c.config.Store.Get(ctx, b.Last)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if r, err := read(e); err != nil || r.Seed != b.Seed {
		return err
	}
	return c.config.Store.Delete(ctx, e.ID, e.Version)
}

func (b *book) earn(pay []amount) {
	for _, p := range pay {
		if n := bigs.OrZero(p.N); n.Sign() > 0 {
			b.Earned[p.Token] = bigs.Add(bigs.OrZero(b.Earned[p.Token]), n)
		}
	}
}

// close enters what a record has cost and earned into the books, and deletes it.
func (c *claimer) close(ctx context.Context, r *record, statuses []chains.TxStatus) error {
	if err := c.finish(ctx); err != nil {
		return err
	}
	b, version, err := c.book(ctx)
	if err != nil {
		return err
	}
	spent, claimed := new(big.Int), false
	at := 0
	for _, a := range r.Attempts {
		for i := range a.Txs {
			s := statuses[at]
			at++
			spent.Add(spent, bigs.OrZero(s.Fee))
			if n := i - len(a.Txs) + len(a.Pay); n >= 0 && s.State == chains.TxConfirmed {
				claimed = true
				b.earn(a.Pay[n])
			}
		}
	}
	switch {
	case claimed:
		b.Claims++
	case spent.Sign() > 0:
		b.Lost++
	default:
		b.Left++
	}
	b.Spent = bigs.Add(b.Spent, spent)
	b.Last, b.Seed = r.id, r.Seed
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := c.config.Store.SetNote(ctx, c.bookName(), text, version); err != nil {
		return err
	}
	r.Attempts = nil
	c.mark(r)
	delete(c.resting, r.id)
	c.log.Info("over", "record", r.label(), "claimed", claimed, "spent", spent)
	return c.finish(ctx)
}
