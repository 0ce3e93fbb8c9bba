package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"path/filepath"

	// Of the version that the module graph holds through lnd already, so that it
	// changes neither the go.mod and go.sum nor the binary of who imports the library.
	_ "modernc.org/sqlite"

	"github.com/swapper-go/swapper/chains/solana"
)

// records are the swaps in a file of the reference service: the table swaps, in
// which the column data holds a record's JSON.
type records struct {
	db   *sql.DB
	id   string // of the record that was yielded last
	data []byte // and its JSON
}

// open opens a file for reading only.
func open(ctx context.Context, file string) (*records, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	db, err := reading(file)
	if err != nil {
		return nil, err
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM swaps").Scan(&n); err != nil {
		db.Close()
		return nil, fmt.Errorf("%s is not a swap file of the reference service: %w", file, err)
	}
	return &records{db: db}, nil
}

func (r *records) Close() error { return r.db.Close() }

// All yields the records one by one, in the order of their ids.
func (r *records) All(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		rows, err := r.db.QueryContext(ctx, "SELECT id, data FROM swaps ORDER BY id")
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			if err := rows.Scan(&r.id, &r.data); err != nil {
				yield(nil, err)
				return
			}
			if !yield(r.data, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// rents names the accounts of Solana whose rent the reference service would have taken back, from the
// file beside that of the swaps.
func rents(ctx context.Context, o options, out io.Writer) error {
	file := filepath.Join(filepath.Dir(o.file), "STORE_solAccounts.sqlite3")
	if _, err := os.Stat(file); o.chain != solana.ChainID || err != nil {
		return nil
	}
	db, err := reading(file)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT value FROM store ORDER BY id")
	if err != nil {
		return fmt.Errorf("%s is not a file of the reference service: %w", file, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return err
		}
		var account struct{ AccountKey, Owner string }
		if err := json.Unmarshal(text, &account); err != nil || account.AccountKey == "" {
			return fmt.Errorf("%s holds a value that is not {accountKey, owner}", file)
		}
		fmt.Fprintf(out, "account %s holds rent that comes back when its owner %s closes it\n", account.AccountKey, account.Owner)
	}
	return rows.Err()
}

// reading opens a file for reading only.
func reading(file string) (*sql.DB, error) {
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: "mode=ro"}).String())
}
