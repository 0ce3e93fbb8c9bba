package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"

	"github.com/swapper-go/swapper/storage"
)

// The layout of a bbolt file, version 2, as far as the check before opening
// needs it. Integers are in the byte order of the machine that wrote it.
//
//	page   id (8), flags (2), count (2), overflow (4), then count elements, then their keys and values
//	meta   magic (4), version (4), page size (4), flags (4), root bucket (16), freelist page (8), pages in use (8), transaction (8), checksum (8)
//	bucket root page (8; 0: the page follows inline), sequence (8)
const (
	pageHeader = 16
	metaSize   = 64
	bucketSize = 16
	element    = 16 // branch: pos (4), key size (4), page (8); leaf: flags (4), pos (4), key size (4), value size (4)

	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10
	bucketLeaf   = 0x01

	magic       = 0xED0CDAED
	boltVersion = 2
	noFreelist  = ^uint64(0)
	maxPageSize = 1 << 16
	maxTreePage = 64 << 20 // a leaf holds at most four entries of the largest size
)

var native = binary.NativeEndian

type meta struct {
	pageSize                   int64
	root, freelist, pages, txn uint64
}

// damaged returns an error that wraps storage.ErrCorrupt.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), storage.ErrCorrupt)
}

// readMeta reads the meta page that starts at an offset. is says whether what
// stands there is one at all, even if damaged.
func readMeta(r io.ReaderAt, offset int64) (m meta, is bool, err error) {
	b := make([]byte, pageHeader+metaSize)
	if _, err := r.ReadAt(b, offset); err == io.EOF {
		return meta{}, false, damaged("the file ends within a meta page")
	} else if err != nil {
		return meta{}, false, err
	}
	body := b[pageHeader:]
	if native.Uint32(body) != magic {
		return meta{}, false, damaged("missing meta page at offset %d", offset)
	}
	sum := fnv.New64a()
	sum.Write(body[:metaSize-8])
	switch {
	case native.Uint16(b[8:]) != metaPage || sum.Sum64() != native.Uint64(body[metaSize-8:]):
		return meta{}, true, damaged("invalid meta page at offset %d", offset)
	case native.Uint32(body[4:]) != boltVersion:
		return meta{}, true, damaged("bbolt file version %d, expected %d", native.Uint32(body[4:]), boltVersion)
	}
	m = meta{
		pageSize: int64(native.Uint32(body[8:])),
		root:     native.Uint64(body[16:]),
		freelist: native.Uint64(body[32:]),
		pages:    native.Uint64(body[40:]),
		txn:      native.Uint64(body[48:]),
	}
	if m.pageSize < 512 || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0 {
		return meta{}, true, damaged("invalid page size %d", m.pageSize)
	}
	return m, true, nil
}

// currentMeta returns the meta page that counts. bbolt writes the two in turn
// and falls back to the older one when the newer one is damaged; that would
// silently undo acknowledged writes, so here both must be sound. A crash does
// not break this: a meta page fits into one sector.
func currentMeta(r io.ReaderAt, size int64) (meta, error) {
	if size == 0 {
		return meta{}, damaged("the file is empty")
	}
	first, is, err := readMeta(r, 0)
	if errors.Is(err, storage.ErrCorrupt) && !is {
		return meta{}, errForeign
	}
	if err != nil {
		return meta{}, err
	}
	second, _, err := readMeta(r, first.pageSize)
	if err != nil {
		return meta{}, err
	}
	now, before := first, second
	if second.txn > first.txn {
		now, before = second, first
	}
	switch {
	case now.txn != before.txn+1, now.pageSize != before.pageSize:
		return meta{}, damaged("meta pages are of transactions %d and %d", before.txn, now.txn)
	case now.pages < 4, now.pages > uint64(size/now.pageSize):
		return meta{}, damaged("the file has %d bytes, but %d pages of %d bytes are in use", size, now.pages, now.pageSize)
	}
	return now, nil
}

// page is one page of a tree, read and within its bounds.
type page struct {
	id, overflow uint64
	flags        uint16
	count        int
	data         []byte // with the header
}

// parsePage interprets data; the page itself may be shorter.
func parsePage(data []byte) (page, error) {
	if len(data) < pageHeader {
		return page{}, damaged("page has %d bytes", len(data))
	}
	p := page{
		id:       native.Uint64(data),
		flags:    native.Uint16(data[8:]),
		count:    int(native.Uint16(data[10:])),
		overflow: uint64(native.Uint32(data[12:])),
		data:     data,
	}
	if (p.flags == branchPage || p.flags == leafPage) && pageHeader+p.count*element > len(data) {
		return page{}, damaged("page %d: %d elements in %d bytes", p.id, p.count, len(data))
	}
	return p, nil
}

// item is an element of a branch or leaf page.
type item struct {
	key, value []byte // value: of a leaf
	bucket     bool   // of a leaf: value is a bucket
	child      uint64 // of a branch
}

// items returns all elements, whose keys must ascend within [low, high); nil
// bounds nothing. bbolt writes what they hold one after the other, from the end of
// their headers on, so that an element which the page's count leaves out is noticed.
func (p page) items(low, high []byte) ([]item, error) {
	items := make([]item, p.count)
	next := uint64(pageHeader + p.count*element)
	for i := range items {
		at := pageHeader + i*element
		it, e := &items[i], p.data[at:at+element]
		var pos, keySize, valueSize uint32
		if p.flags == branchPage {
			pos, keySize, it.child = native.Uint32(e), native.Uint32(e[4:]), native.Uint64(e[8:])
		} else {
			it.bucket = native.Uint32(e)&bucketLeaf != 0
			pos, keySize, valueSize = native.Uint32(e[4:]), native.Uint32(e[8:]), native.Uint32(e[12:])
		}
		value := next + uint64(keySize)
		end := value + uint64(valueSize)
		if uint64(at)+uint64(pos) != next || keySize == 0 || end > uint64(len(p.data)) {
			return nil, damaged("page %d: element %d is outside the page or not where the one before ends", p.id, i)
		}
		it.key, it.value, next = p.data[next:value:value], p.data[value:end:end], end
		if i > 0 && bytes.Compare(items[i-1].key, it.key) >= 0 || low != nil && bytes.Compare(it.key, low) < 0 || high != nil && bytes.Compare(it.key, high) >= 0 {
			return nil, damaged("page %d: keys are out of order", p.id)
		}
	}
	return items, nil
}

// leaf visits the elements of a leaf page.
func (p page) leaf(low, high []byte, visit func(item) error) error {
	items, err := p.items(low, high)
	if err != nil {
		return err
	}
	for _, it := range items {
		if err := visit(it); err != nil {
			return err
		}
	}
	return nil
}
