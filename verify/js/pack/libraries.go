package main

// libraries are replaced by what follows of them: other libraries import them for what a wallet here
// never does, and each fills its tables when the program starts, so that they would be linked: a sixth of the code for
// Solana. A library that imports more of them than there is here does not compile.
var libraries = map[string]map[string]string{
	// Solana's keys as BSON.
	"go.mongodb.org/mongo-driver": {
		"bson/bson.go": `package bson

import (
	"errors"

	"go.mongodb.org/mongo-driver/bson/bsontype"
)

func Marshal(any) ([]byte, error)                      { return nil, errors.ErrUnsupported }
func Unmarshal([]byte, any) error                      { return errors.ErrUnsupported }
func MarshalValue(any) (bsontype.Type, []byte, error)  { return 0, nil, errors.ErrUnsupported }
func UnmarshalValue(bsontype.Type, []byte, any) error  { return errors.ErrUnsupported }
`,
		"bson/bsontype/type.go": "package bsontype\n\ntype Type byte\n",
	},
	// Solana's keys and messages as JSON, which encoding/json writes and reads in the same way.
	"github.com/json-iterator/go": {"json.go": `package jsoniter

import "encoding/json"

type API struct{}

var ConfigCompatibleWithStandardLibrary API

func (API) Marshal(v any) ([]byte, error)      { return json.Marshal(v) }
func (API) Unmarshal(text []byte, v any) error { return json.Unmarshal(text, v) }
`},
	// Logs of how Solana's transactions are read and written, which nothing turns on.
	"github.com/streamingfast/logging": {"logging.go": `package logging

import "go.uber.org/zap"

type Tracer struct{}

func (Tracer) Enabled() bool { return false }

func IsTraceEnabled(string, string) bool                  { return false }
func Register(string, **zap.Logger)                       {}
func PackageLogger(string, string) (*zap.Logger, Tracer)  { return nil, Tracer{} }
`},
	"go.uber.org/zap": {"zap.go": `package zap

import "fmt"

type Field struct{}

type Logger struct{}

func NewNop() *Logger                 { return nil }
func (l *Logger) Named(string) *Logger { return l }
func (*Logger) Debug(string, ...Field) {}

func field[T any](string, T) Field { return Field{} }

var (
	Int, Int8, Int16, Int32, Int64 = field[int], field[int8], field[int16], field[int32], field[int64]
	Uint8, Uint16, Uint32, Uint64  = field[uint8], field[uint16], field[uint32], field[uint64]
	Bool, Float32, Float64         = field[bool], field[float32], field[float64]
	String, Stringer, Reflect      = field[string], field[fmt.Stringer], field[any]
	Binary                         = field[[]byte]
)
`},
	// Where Lightning's nodes are, asked through Tor.
	"github.com/miekg/dns": {"dns.go": `package dns

import (
	"errors"
	"net"
)

const TypeSRV, RcodeSuccess = 33, 0

var RcodeToString map[int]string

type Conn struct{ net.Conn }

func (*Conn) WriteMsg(*Msg) error     { return errors.ErrUnsupported }
func (*Conn) ReadMsg() (*Msg, error)  { return nil, errors.ErrUnsupported }

type RR any

type SRV struct {
	Target                 string
	Port, Priority, Weight uint16
}

type Msg struct {
	Rcode  int
	Answer []RR
}

func (m *Msg) SetQuestion(string, uint16) *Msg { return m }
`},
}

// withoutLibraries replaces the libraries in a go.mod of the build.
func (o *overlay) withoutLibraries(modfile string) error {
	for library, files := range libraries {
		files["go.mod"] = "module " + library + "\n\ngo 1.26\n"
		if err := o.replace(modfile, library, files); err != nil {
			return err
		}
	}
	return nil
}
