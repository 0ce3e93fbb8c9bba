// Command leaves looks for answers in the conformance vectors that no test
// compares. It changes one leaf of each case's expected answer at a time, runs
// the vector tests on the changed files, and lists the leaves whose change goes
// unnoticed. Leaves that are meant to be so are named, with the reason, in
// internal/vectors/unwatched.md: also those of cases that are answered otherwise
// on purpose, or not run. Rows of that table that name nothing are listed too.
//
//	(cd tools && go run ./leaves [-files regexp] [-rounds n] [-out file])
//
// A change is seen if the test of that very case fails. Each round changes one
// leaf in every case of a file; the test binaries are compiled once. The command
// ends with status 1 if a leaf is neither compared nor named.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"regexp"
	"slices"
	"sync"
	"time"
)

func main() {
	files := flag.String("files", ".", "regular expression of the <area>/<file> to look at")
	rounds := flag.Int("rounds", 40, "most changes of one case")
	workers := flag.Int("workers", 2, "files that are looked at side by side")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the random choices")
	out := flag.String("out", "", "file for everything that goes unnoticed, as JSON lines")
	dir := flag.String("dir", "", "folder for compiled tests and changed files, kept (default: a temporary one)")
	flag.Parse()
	if err := os.Chdir(".."); err != nil { // from the module of tools to the library's
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%q is not a flag; see -help\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	left, err := run(ctx, regexp.MustCompile(*files), *rounds, *workers, *seed, *out, *dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if left > 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, pattern *regexp.Regexp, rounds, workers int, seed uint64, out, dir string) (left int, err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "leaves"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
	}
	named, err := readNamed("internal/vectors/unwatched.md")
	if err != nil {
		return 0, err
	}
	all, err := unpack(dir)
	if err != nil {
		return 0, err
	}
	files := slices.DeleteFunc(slices.Clone(all.names), func(name string) bool { return !pattern.MatchString(name) })
	tests, err := compile(ctx, dir, files)
	if err != nil {
		return 0, err
	}
	used, err := tests.baseline(ctx, all.dir)
	if err != nil {
		return 0, err
	}
	tried, seen := 0, 0
	var sink *json.Encoder
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return 0, err
		}
		defer f.Close()
		sink = json.NewEncoder(f)
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	places := make(chan struct{}, workers)
	for _, name := range files {
		runs := used[name]
		if len(runs) == 0 {
			fmt.Printf("%s: read by no vector test\n", name)
			continue
		}
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			l := &look{name: name, runs: runs, all: all, rounds: rounds, seed: seed, dir: dir}
			found, e := l.look(ctx)
			mu.Lock()
			defer mu.Unlock()
			if e != nil {
				err = fmt.Errorf("%s: %w", name, e)
				return
			}
			left += report(name, l, found, named)
			tried, seen = tried+l.tried, seen+l.seen
			if sink != nil {
				for _, m := range found {
					err = sink.Encode(m)
				}
			}
		})
	}
	group.Wait()
	fmt.Printf("%d changes, %d noticed, %d named, %d left\n", tried, seen, tried-seen-left, left)
	for _, n := range named {
		if !slices.ContainsFunc(files, func(f string) bool { ok, _ := path.Match(n.file, f); return ok }) {
			continue
		}
		for i, leaf := range n.leaves {
			if !n.used[i] {
				fmt.Printf("names nothing that went unnoticed: %s %s %s\n", n.file, n.cases, leaf)
			}
		}
	}
	return left, err
}
