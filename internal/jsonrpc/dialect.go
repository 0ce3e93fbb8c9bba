package jsonrpc

import "encoding/json"

// Verdict is what an error in an answer means.
type Verdict int

// Verdicts.
const (
	Answer    Verdict = iota // it is the answer
	Elsewhere                // it is the answer unless another node has a better one
	Trouble                  // it is the node's own trouble: another node, or the same one later, may do better
)

// Dialect is what is particular to the nodes of one family of chains. Its functions
// are called concurrently.
type Dialect struct {
	// Identity asks which network a node serves. It goes along with the first request
	// to each node, and again after a failure: a node is believed only after it has
	// named the right one.
	Identity string
	// Check judges the answer to Identity. An error of another kind than *[ForeignError]
	// says that the answer is none.
	Check func(answer json.RawMessage) error
	// Version, if set, asks which version of the interface a node speaks. It goes along
	// with Identity, and before the first request that has a Form.
	Version string
	// ReadVersion reads the answer to Version. An error says that the node cannot be
	// spoken to.
	ReadVersion func(answer json.RawMessage) (int, error)
	// Judge tells answers from troubles.
	Judge func(method string, err *Error) Verdict
	// Head reads the newest block that a node knows out of an answer and what it was
	// decoded to, a pointer like the request's Result; ok is false where an answer does
	// not tell it. late says that the block is so old that other nodes should be asked.
	// Nil: never.
	Head func(r Request, answer json.RawMessage, result any) (height uint64, late, ok bool)
	// Light reports whether a call costs a node so little that a caller can wait for
	// its answer: light calls of many callers share requests while a node is busy. Nil:
	// none is.
	Light func(r Request) bool
	// Unit is what heights count, for errors: "block".
	Unit string
}

// ForeignError says that a node serves another network than it should.
type ForeignError struct{ Says string }

func (e *ForeignError) Error() string { return e.Says }
