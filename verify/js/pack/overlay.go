package main

import (
	"encoding/json"
	"fmt"
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

// replace replaces a library by files, in a go.mod of the build.
func (o *overlay) replace(modfile, library string, files map[string]string) error {
	folder := "./instead/" + library
	for name, text := range files {
		if err := o.write(filepath.Join(o.root, filepath.FromSlash(folder), filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	_, err := output("mod", "edit", "-replace="+library+"="+folder, modfile)
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
