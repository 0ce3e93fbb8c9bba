package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// refused keeps the records that were refused in a file, which is made with the first of them.
type refused struct {
	path string // "": they are not kept
	file *os.File
	err  error // the first
}

// refusedFile is the file of the refused records, "" in a dry run.
func (o options) refusedFile() string {
	if o.dry {
		return ""
	}
	return o.store + ".refused"
}

// add keeps a record with the reason.
func (r *refused) add(id string, why error, record []byte) {
	if r.path == "" || r.err != nil {
		return
	}
	if r.file == nil {
		if r.file, r.err = os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); r.err != nil {
			return
		}
	}
	line := struct {
		ID     string          `json:"id"`
		Error  string          `json:"error"`
		Record json.RawMessage `json:"record"`
	}{id, why.Error(), record}
	if !json.Valid(record) {
		line.Record, _ = json.Marshal(string(record))
	}
	r.err = json.NewEncoder(r.file).Encode(line)
}

// Close ends the file. After an import that was complete and refused nothing, the file of an earlier one
// is removed.
func (r *refused) Close(complete bool) error {
	if r.file != nil {
		return errors.Join(r.err, r.file.Sync(), r.file.Close())
	}
	if r.path != "" && complete && r.err == nil {
		if err := os.Remove(r.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return r.err
}
