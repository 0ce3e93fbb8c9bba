package bolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Up to this size a file is walked whole before it is opened; of a larger one,
// only the pages above the leaves.
const walkedWhole = 64 << 20

// checker walks the pages of a closed file, with bounds, where bbolt would
// follow them blindly: a loop among branch pages would exhaust the stack and a
// page that is both used and free would be overwritten, and no recover helps
// against either. Nor does bbolt's own Tx.Check: it follows them as blindly, in a
// goroutine of its own, where its panics and faults end the process. Only when the
// checker is content may bbolt have the file.
type checker struct {
	ctx    context.Context
	file   io.ReaderAt
	meta   meta
	leaves bool     // read the leaves below a branch, too
	seen   []uint64 // bit set of pages used or free
}

// checkFile returns an error unless the file is a store that this version can
// open. Its time is that of reading the pages; the context ends it.
func checkFile(ctx context.Context, file io.ReaderAt, size int64, leaves bool) (*checker, error) {
	m, err := currentMeta(file, size)
	if err != nil {
		return nil, err
	}
	c := &checker{ctx: ctx, file: file, meta: m, leaves: true, seen: make([]uint64, m.pages/64+1)}
	if err := c.mark(0, 2); err != nil {
		return nil, err
	}
	buckets, err := c.identify()
	if err != nil {
		return nil, err
	}
	if err := c.freelist(); err != nil {
		return nil, err
	}
	c.leaves = leaves
	for _, bucket := range buckets {
		if err := c.bucket(bucket, noBucket); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// identify walks the tree of the root, which holds the buckets, and returns
// those with the data.
func (c *checker) identify() ([][]byte, error) {
	buckets := map[string][]byte{}
	err := c.tree(c.meta.root, nil, nil, func(it item) error {
		if !it.bucket {
			return errForeign
		}
		buckets[string(it.key)] = it.value
		return nil
	})
	if err != nil {
		return nil, err
	}
	var format, schema []byte
	if value := buckets[string(headBucket)]; value != nil {
		if err := c.bucket(value, func(it item) error {
			switch string(it.key) {
			case string(formatKey):
				format = it.value
			case string(schemaKey):
				schema = it.value
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	if string(format) != formatName {
		return nil, errForeign
	}
	if len(schema) != 8 {
		return nil, damaged("schema number has %d bytes", len(schema))
	} else if n := binary.BigEndian.Uint64(schema); n > schemaNumber {
		return nil, fmt.Errorf("%w: its layout is %d and this version reads up to %d; open it with the version that wrote it or a newer one, or go back to a copy from before the upgrade", errSchema, n, schemaNumber)
	} else if n != schemaNumber {
		return nil, fmt.Errorf("%w: its layout is %d and this version reads %d", errSchema, n, schemaNumber)
	}
	var values [][]byte
	for _, name := range dataBuckets {
		if buckets[string(name)] == nil {
			return nil, damaged("bucket %s is missing", name)
		}
		values = append(values, buckets[string(name)])
	}
	if len(buckets) != len(dataBuckets)+1 {
		return nil, damaged("%d buckets, expected %d", len(buckets), len(dataBuckets)+1)
	}
	return values, nil
}

// read returns a page with its overflow, at most limit bytes.
func (c *checker) read(id uint64, limit int64) (page, error) {
	if err := c.ctx.Err(); err != nil {
		return page{}, err
	}
	if id < 2 || id >= c.meta.pages {
		return page{}, damaged("page %d is outside the file's %d pages", id, c.meta.pages)
	}
	head := make([]byte, c.meta.pageSize)
	if err := c.readAt(head, id); err != nil {
		return page{}, err
	}
	overflow := uint64(native.Uint32(head[12:]))
	if native.Uint64(head) != id || overflow >= c.meta.pages-id || int64(overflow+1)*c.meta.pageSize > limit {
		return page{}, damaged("page %d: invalid header", id)
	}
	if overflow > 0 {
		head = make([]byte, int64(overflow+1)*c.meta.pageSize)
		if err := c.readAt(head, id); err != nil {
			return page{}, err
		}
	}
	return parsePage(head)
}

func (c *checker) readAt(b []byte, id uint64) error {
	if _, err := c.file.ReadAt(b, int64(id)*c.meta.pageSize); err == io.EOF {
		return damaged("page %d is beyond the end of the file", id)
	} else if err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// mark notes n pages as accounted for; each page may be so once.
func (c *checker) mark(id, n uint64) error {
	if id >= c.meta.pages || n > c.meta.pages-id {
		return damaged("page %d with %d overflow pages exceeds the file's %d pages", id, n-1, c.meta.pages)
	}
	for ; n > 0; id, n = id+1, n-1 {
		if c.seen[id/64]&(1<<(id%64)) != 0 {
			return damaged("page %d is used twice", id)
		}
		c.seen[id/64] |= 1 << (id % 64)
	}
	return nil
}

// complete checks that every page was accounted for, if the leaves were read.
// One that was not is lost space, but no danger.
func (c *checker) complete() error {
	for id := range c.meta.pages {
		if c.seen[id/64]&(1<<(id%64)) == 0 {
			return damaged("page %d is neither in use nor free", id)
		}
	}
	return nil
}

func (c *checker) freelist() error {
	if c.meta.freelist == noFreelist {
		return damaged("the list of free pages is missing")
	}
	p, err := c.read(c.meta.freelist, math.MaxInt64)
	if err != nil {
		return err
	}
	ids, n := p.data[pageHeader:], uint64(p.count)
	if p.count == 0xffff {
		n, ids = native.Uint64(ids), ids[8:] // the count does not fit its field and stands first
	}
	if p.flags != freelistPage || n > uint64(len(ids))/8 {
		return damaged("page %d: invalid list of free pages", p.id)
	}
	if err := c.mark(p.id, p.overflow+1); err != nil {
		return err
	}
	for i := range n {
		if err := c.mark(native.Uint64(ids[8*i:]), 1); err != nil {
			return err
		}
	}
	return nil
}

// bucket visits what a bucket holds; a small one is kept within its parent's page.
func (c *checker) bucket(value []byte, visit func(item) error) error {
	if len(value) < bucketSize {
		return damaged("bucket header has %d bytes", len(value))
	}
	if root := native.Uint64(value); root != 0 {
		return c.tree(root, nil, nil, visit)
	}
	p, err := parsePage(value[bucketSize:])
	if err != nil {
		return err
	}
	if p.flags != leafPage {
		return damaged("inline bucket is not a leaf page")
	}
	return p.leaf(nil, nil, visit)
}

// noBucket visits the data, among which no bucket may be.
func noBucket(it item) error {
	if it.bucket {
		return damaged("unexpected bucket %q among the data", it.key)
	}
	return nil
}

// tree walks the pages from id on, whose keys lie in [low, high), and visits
// what the leaves hold; it reads leaves below a branch only if c.leaves is set.
// It ends because every page is marked before its children are read.
func (c *checker) tree(id uint64, low, high []byte, visit func(item) error) error {
	p, err := c.read(id, maxTreePage)
	if err != nil {
		return err
	}
	if err := c.mark(id, p.overflow+1); err != nil {
		return err
	}
	switch p.flags {
	case leafPage:
		if p.count == 0 && low != nil {
			return damaged("page %d: empty leaf", id)
		}
		return p.leaf(low, high, visit)
	case branchPage:
		return c.branch(p, low, high, visit)
	}
	return damaged("page %d is neither a branch nor a leaf", id)
}

func (c *checker) branch(p page, low, high []byte, visit func(item) error) error {
	if p.count == 0 {
		return damaged("page %d: branch without children", p.id)
	}
	items, err := p.items(low, high)
	if err != nil {
		return err
	}
	if !c.leaves {
		first, err := c.read(items[0].child, maxTreePage)
		if err != nil {
			return err
		}
		if first.flags == leafPage { // a tree is equally deep everywhere, so all of them are
			for _, it := range items {
				if err := c.mark(it.child, 1); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for i, it := range items {
		until := high
		if i+1 < len(items) {
			until = items[i+1].key
		}
		if err := c.tree(it.child, it.key, until, visit); err != nil {
			return err
		}
	}
	return nil
}
