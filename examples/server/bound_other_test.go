//go:build !unix

package main

import "errors"

func boundFiles(uint64) error { return errors.ErrUnsupported }
