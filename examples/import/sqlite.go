package main

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"net/url"
	"os"

	// Of the version that the module graph holds through lnd already, so that it
	// changes neither the go.mod and go.sum nor the binary of who imports the library.
	_ "modernc.org/sqlite"
)

// records are the swaps in a file of the reference service: the table swaps, in
// which the column data holds a record's JSON.
type records struct{ db *sql.DB }

// open opens a file for reading only.
func open(ctx context.Context, file string) (*records, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: "mode=ro"}).String())
	if err != nil {
		return nil, err
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM swaps").Scan(&n); err != nil {
		db.Close()
		return nil, fmt.Errorf("%s is not a swap file of the reference service: %w", file, err)
	}
	return &records{db}, nil
}

func (r *records) Close() error { return r.db.Close() }

// All yields the records one by one, in the order of their ids.
func (r *records) All(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		rows, err := r.db.QueryContext(ctx, "SELECT data FROM swaps ORDER BY id")
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var data sql.RawBytes
			if err := rows.Scan(&data); err != nil {
				yield(nil, err)
				return
			}
			if !yield(data, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
