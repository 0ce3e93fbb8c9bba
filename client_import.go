package swapper

import (
	"context"
	"errors"
	"iter"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/recovery"
)

// ImportInput is the input of [Client.Import].
type ImportInput struct {
	// ChainID is the smart chain whose records these are; they do not name it
	// themselves. The reference service keeps one file or database for each chain.
	ChainID string
	// Records yields the records one at a time, each a JSON object as the reference
	// service stores it. A body may be overwritten after the next one is asked for.
	// An error ends the import.
	Records iter.Seq2[[]byte, error]
	DryRun  bool // judges every record, stores none
}

// ImportReport says what became of one record.
type ImportReport struct {
	Record  int             // its place in the input, from 0
	Swap    *ListSwapOutput // as it is stored, or in a dry run would be; nil if the record was refused
	Present bool            // the store had this swap already, and it was left as it is
	// Err is why the record was refused: an [*fault.Error] whose Field is the member of the
	// record that is at fault ("" if no single one is). [fault.InvalidInput]: the record
	// is damaged, contradicts itself, or is of another network. [fault.Unsupported]: its
	// swap type, contract version or token is not configured.
	Err error
}

// maxRecord bounds the JSON of one record, in bytes. They have some 3 kB.
const maxRecord = 1 << 20

// Import stores swaps from the records of the reference service, so that its users'
// swaps go on here, under the same ids and with the same preimages. It yields what became
// of every record, in order; whoever stops asking stops the import. An error, which ends
// the import, is yielded alone.
//
// A swap that the store has already is left as it is, so that an import that was
// cut short can be repeated; where the two differ and the stored one has ended, the
// chain is asked once more which of them is right. A record that cannot be accepted is reported and harms
// no other. Memory does not grow with the number of records.
//
// No other request is sent about the swaps: a status looks at its swap when it is asked
// for, and [Client.Run] follows all of them, as it does after a restart. The
// reference service must not run on the same swaps at the same time.
//
// Errors, beside those of the records: [fault.InvalidInput] for a chain that is not
// configured; what Records yields; a failure of the store. The records reported
// before that are stored.
func (c *Client) Import(ctx context.Context, in ImportInput) iter.Seq2[ImportReport, error] {
	return func(yield func(ImportReport, error) bool) {
		asked := true
		err := c.importAll(ctx, in, func(r ImportReport) bool {
			asked = yield(r, nil)
			return asked
		})
		if err != nil && asked {
			yield(ImportReport{}, err)
		}
	}
}

// importAll stores the swaps of all records, until report says that it has heard enough.
func (c *Client) importAll(ctx context.Context, in ImportInput, report func(ImportReport) bool) (err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return err
	}
	defer end(&err)
	ch := c.byID[in.ChainID]
	switch {
	case ch == nil:
		return fault.Invalid("chainId", "%s is not configured", in.ChainID)
	case in.Records == nil:
		return fault.Invalid("records", "is required")
	}
	a := recovery.Adopter{Quoter: c.quoter, Chain: ch, DryRun: in.DryRun, Log: c.config.Logger}
	n := 0
	for body, err := range in.Records {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r, err := c.importOne(ctx, &a, body)
		if err != nil {
			return err
		}
		r.Record = n
		n++
		if !report(r) {
			return nil
		}
	}
	return nil
}

// importOne stores the swap of one record. Its error is one that ends the import.
func (c *Client) importOne(ctx context.Context, a *recovery.Adopter, body []byte) (ImportReport, error) {
	if len(body) > maxRecord {
		return ImportReport{Err: fault.Invalid("", "the record has %d bytes, must have at most %d", len(body), maxRecord)}, nil
	}
	r, known, err := a.Adopt(ctx, body)
	if refused, ok := errors.AsType[*fault.Error](err); ok && ctx.Err() == nil {
		return ImportReport{Err: refused}, nil
	}
	if err != nil {
		return ImportReport{}, err
	}
	shown := c.listed(ctx, r)
	return ImportReport{Swap: &shown, Present: known}, nil
}
