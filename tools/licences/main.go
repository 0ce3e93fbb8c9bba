// Command licences lists the licences of every module that the project's packages and
// examples link, and refuses those that are not allowed.
//
//	cd tools && go run ./licences          # writes docs/licences.md
//	cd tools && go run ./licences -check   # fails if that would change it
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed are the licences that a program with this library in it may be given away under
// any terms with, and what each asks for.
var allowed = map[string]string{
	"MIT": "its notice is kept", "ISC": "its notice is kept", "0BSD": "nothing", "CC0-1.0": "nothing", "Unlicense": "nothing",
	"BSD-2-Clause": "its notice is kept", "BSD-3-Clause": "its notice is kept", "Apache-2.0": "its notice is kept, changes are marked",
	"MPL-2.0": "files of it that were changed are given away too",
}

// elsewhere are the licences of modules whose files leave out the text that their repository has.
var elsewhere = map[string]string{
	"github.com/gagliardetto/treeout":   "MIT", // added to the repository after the version that is used
	"github.com/holiman/bloomfilter/v2": "MIT", // MIT-LICENSE.txt, one folder above the module
}

// reasons allow further licences to single modules.
var reasons = map[string]string{
	"github.com/ethereum/go-ethereum LGPL-3.0": "the library's part of it: a program that is given away lets its user link another version, for which this project's source is enough",
	"github.com/ethereum/go-ethereum GPL-3.0":  "its commands, of which nothing is linked; the library's text builds on this one",
}

func main() {
	check := flag.Bool("check", false, "fail if docs/licences.md is not up to date")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "licences: %q is not a flag; see -help\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run("..", *check); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	modules, err := linked(root)
	if err != nil {
		return err
	}
	text := new(bytes.Buffer)
	fmt.Fprint(text, "# Licences\n\nEvery module that a package or an example of the project links, with the licences of its files `LICENSE` and `COPYING`, as `tools/licences` reads them. Modules of tests and tools alone are not among them.\n\n| Module | Version | Licences |\n|---|---|---|\n")
	var refused []string
	used := map[string]bool{}
	for _, m := range modules {
		found, err := licencesOf(m.Dir)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		if id := elsewhere[m.Path]; id != "" && len(found) == 0 {
			found = []string{id}
		}
		for _, id := range found {
			used[id] = true
			if _, ok := allowed[id]; !ok && reasons[m.Path+" "+id] == "" {
				refused = append(refused, m.Path+": "+id)
			}
		}
		if len(found) == 0 {
			refused = append(refused, m.Path+": no licence that is known")
		}
		fmt.Fprintf(text, "| `%s` | %s | %s |\n", m.Path, m.Version, strings.Join(found, ", "))
	}
	fmt.Fprint(text, "\nWhat they ask of whoever gives a program away:\n\n")
	var ids []string
	for id := range used {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if asks, ok := allowed[id]; ok {
			fmt.Fprintf(text, "- %s: %s.\n", id, asks)
			continue
		}
		for _, m := range modules {
			if why := reasons[m.Path+" "+id]; why != "" {
				fmt.Fprintf(text, "- %s (`%s`): %s.\n", id, m.Path, why)
			}
		}
	}
	if refused != nil {
		return fmt.Errorf("not allowed:\n%s", strings.Join(refused, "\n"))
	}
	name := filepath.Join(root, "docs", "licences.md")
	if check {
		have, err := os.ReadFile(name)
		if err == nil && !bytes.Equal(have, text.Bytes()) {
			err = fmt.Errorf("%s is not up to date: cd tools && go run ./licences", name)
		}
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o644)
}

type module struct{ Path, Version, Dir string }

// linked are the modules of the packages that programs link, without those of tests.
func linked(root string) ([]module, error) {
	list := exec.Command("go", "list", "-deps", "-json=Module,Standard", "./...")
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	known := map[string]module{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Module *struct {
				module
				Main bool
			}
		}
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && !p.Module.Main {
			known[p.Module.Path] = p.Module.module
		}
	}
	var all []module
	for _, m := range known {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([._-].*)?$`)

// licencesOf reads the licences at the top of a module; a module of a repository with
// several is below the one that has them.
func licencesOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		for _, m := range licensecheck.Scan(text).Match {
			if id := strings.TrimSuffix(strings.TrimSuffix(m.ID, "-only"), "-or-later"); !m.IsURL && !slices.Contains(found, id) {
				found = append(found, id)
			}
		}
	}
	slices.Sort(found)
	return found, nil
}
