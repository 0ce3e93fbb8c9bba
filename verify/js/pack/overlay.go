package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// overlay is what the build reads in place of files, or where there are none. The program
// contains the names of folders that replace modules: here they are ones of the module that is built, which exist
// in the overlay alone, so that the program is the same wherever it is built.
type overlay struct {
	work, root string // folder of the contents; that of the module that is built
	Replace    map[string]string
}

// write gives a file another text.
func (o *overlay) write(file, text string) error {
	to := filepath.Join(o.work, fmt.Sprint(len(o.Replace)))
	o.Replace[file] = to
	return os.WriteFile(to, []byte(text), 0o644)
}

// change replaces a library by a copy of it, in a go.mod of the build, in which some files have another text.
func (o *overlay) change(modfile, library string, files map[string]func(string) (string, error)) error {
	from, err := output("list", "-m", "-f", "{{.Dir}}", library)
	if err != nil {
		return err
	}
	changed := make(map[string]string)
	for name, change := range files {
		text, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if changed[name], err = change(string(text)); err != nil {
			return err
		}
	}
	if err := o.replace(modfile, library, changed); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(file string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, file)
		if to := filepath.Join(o.root, instead(library), name); o.Replace[to] == "" {
			o.Replace[to] = file
		}
		return err
	})
}

// instead is the folder of what replaces a library, in the module that is built.
func instead(library string) string { return filepath.Join("instead", filepath.FromSlash(library)) }

// replace replaces a library by files, in a go.mod of the build.
func (o *overlay) replace(modfile, library string, files map[string]string) error {
	for name, text := range files {
		if err := o.write(filepath.Join(o.root, instead(library), filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	_, err := output("mod", "edit", "-replace="+library+"=./"+filepath.ToSlash(instead(library)), modfile)
	return err
}

// file is the overlay as the go command reads it.
func (o *overlay) file() (string, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	name := filepath.Join(o.work, "overlay.json")
	return name, os.WriteFile(name, text, 0o644)
}
