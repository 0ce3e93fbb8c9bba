// Command move copies a store from one kind to another: one file (package
// storage/bolt) to a PostgreSQL database (package storage/postgres), back, or
// from one schema to another:
//
//	go run ./examples/move -from swaps.db -to postgres://swapper@db.internal/swaps?sslmode=verify-full
//	go run ./examples/move -from postgres://swapper@db.internal/swaps?sslmode=verify-full -to swaps.db
//
// Stop the services on both stores first. The source is opened for reading only and never
// changed. The command refuses a file that a service has open, but cannot notice a service
// on a database. If the command is interrupted, run it again: it continues where it
// stopped. At the end it reads both stores completely, side by side: each entry must have the
// same version, body and keys in both, each note the same data, neither store may have
// more, and the indexes of both must be right. Only then is the exit status 0. Notes begin
// at version 1.
//
// Put passwords into ~/.pgpass or $PGPASSWORD, not on the command line. If you stop
// using the source, keep it in a safe place: it holds preimages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/storage/postgres"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "move:", err)
	if _, ok := errors.AsType[misuse](err); ok {
		os.Exit(2)
	}
	os.Exit(1)
}

// misuse is an error of the command line, for which the exit status is 2.
type misuse struct{ error }

// Unwrap returns what is wrong.
func (m misuse) Unwrap() error { return m.error }

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("move", flag.ContinueOnError)
	flags.SetOutput(out)
	from := flags.String("from", "", "the store to copy: the path of a file, or a postgres:// URL")
	fromSchema := flags.String("from-schema", "swapper", "the schema of the store to copy, if it is in a database")
	to := flags.String("to", "", "the store to fill: empty, or one that an earlier call has begun to fill")
	toSchema := flags.String("to-schema", "swapper", "the schema of the store to fill, if it is in a database")
	check := flags.Bool("check", false, "copy nothing, only compare")
	if err := flags.Parse(args); err != nil {
		return misuse{err}
	}
	switch {
	case flags.NArg() > 0:
		return misuse{fmt.Errorf("%q is not a flag; see -help", flags.Arg(0))}
	case *from == "" || *to == "":
		return misuse{fmt.Errorf("-from and -to must each name a store")}
	}
	source, err := open(ctx, *from, *fromSchema, true)
	if err != nil {
		return fmt.Errorf("-from: %w", err)
	}
	defer source.Close()
	target, err := open(ctx, *to, *toSchema, *check)
	if err != nil {
		return fmt.Errorf("-to: %w", err)
	}
	defer func() {
		if closed := target.Close(); err == nil {
			err = closed
		}
	}()
	if !*check {
		done, err := copyAll(ctx, source, target, func(p progress) {
			fmt.Fprintf(out, "%d entries and %d notes so far\n", p.entries, p.notes)
		})
		if err != nil {
			return fmt.Errorf("after %d entries and %d notes: %w; the same command goes on from there", done.entries, done.notes, err)
		}
		fmt.Fprintf(out, "copied: %d entries and %d notes, of which %d were there\n", done.entries, done.notes, done.there)
	}
	same, err := compare(ctx, source, target)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	fmt.Fprintf(out, "verified: %d entries and %d notes are the same in both\n", same.entries, same.notes)
	return nil
}

// open opens a store by its name. A file to be read must be there.
func open(ctx context.Context, name, schema string, readOnly bool) (whole, error) {
	if strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://") {
		return postgres.Open(ctx, name, postgres.Options{Schema: schema, ReadOnly: readOnly})
	}
	return bolt.Open(ctx, name, bolt.Options{ReadOnly: readOnly})
}
