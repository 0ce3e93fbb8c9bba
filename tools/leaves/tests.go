package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// binary is the compiled test of one package.
type binary struct{ path, folder string }

type binaries []binary

// compile builds the tests of every package that has a vector test and names one
// of the files.
func compile(ctx context.Context, dir string, files []string) (binaries, error) {
	texts := map[string][]byte{} // of the tests of each folder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		texts[filepath.Dir(path)] = append(texts[filepath.Dir(path)], text...)
		return err
	})
	if err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	for folder, text := range texts {
		names := func(file string) bool { return bytes.Contains(text, []byte(`"`+file[strings.Index(file, "/")+1:]+`"`)) }
		if bytes.Contains(text, []byte("\nfunc TestVectors")) && slices.ContainsFunc(files, names) {
			folders[folder] = true
		}
	}
	var out binaries
	for folder := range folders {
		folder, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		b := binary{filepath.Join(dir, strings.ReplaceAll(folder, string(filepath.Separator), "_")+".test"), folder}
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", b.path, ".")
		cmd.Dir = folder
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("compile %s: %w: %s", folder, err, text)
		}
		out = append(out, b)
	}
	return out, nil
}

// outcome is a line that a test over one vector file writes: package vectors' Report.
type outcome struct {
	Area, File, Test string
	Failed           []string
	Different        []struct{ Case, Reason string }
	NotRun           []struct{ Case, Why string }
}

// testRun is one test over one vector file and how it answers the unchanged file.
type testRun struct {
	binary
	test string
	told outcome
}

// baseline runs all vector tests on the unchanged files, and returns which of
// them read which file.
func (bs binaries) baseline(ctx context.Context, folder string) (map[string][]testRun, error) {
	used := map[string][]testRun{}
	for _, b := range bs {
		told, failed, err := b.run(ctx, "^TestVectors", folder)
		if err != nil {
			return nil, err
		}
		if failed != "" {
			return nil, fmt.Errorf("%s fails on the unchanged vectors: %s", b.folder, failed)
		}
		for _, r := range told {
			name := r.Area + "/" + r.File
			used[name] = append(used[name], testRun{b, r.Test, r})
		}
	}
	return used, nil
}

// run runs the tests that match on the files of a folder. failed is what the
// tests print if one fails.
func (b binary) run(ctx context.Context, match, folder string) (told []outcome, failed string, err error) {
	out, err := os.CreateTemp("", "report")
	if err != nil {
		return nil, "", err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, "-test.run", match, "-test.timeout", "3m")
	cmd.Dir = b.folder
	cmd.Env = append(os.Environ(), "SWAPPER_VECTORS="+folder, "SWAPPER_VECTORS_REPORT="+out.Name())
	text, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); exited && ctx.Err() == nil {
		failed, err = string(text), nil
	}
	if err != nil {
		return nil, "", err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r outcome
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, "", err
		}
		told = append(told, r)
	}
	return told, failed, lines.Err()
}

// match is the pattern of -test.run for one test and its parts.
func match(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return strings.Join(parts, "/")
}
