package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/swapper-go/swapper"
)

// keyed is a remote service whose swaps' keys are kept in a file, since each command is a
// process of its own: a line has a swap's id and its key.
type keyed struct {
	swapper.Service
	path string
}

// keysFile is where keys are kept if nothing else is said.
func (c *cli) keysFile() (string, error) {
	if path := c.getenv("SWAPPER_KEYS"); path != "" {
		return path, nil
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("name a file for the keys of swaps with -keys: %w", err)
	}
	return filepath.Join(folder, "swapper", "keys"), nil
}

// CreateSwap implements [swapper.Service].
func (k keyed) CreateSwap(ctx context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	return k.keep(k.Service.CreateSwap(ctx, in))
}

// CreateGasSwap implements [swapper.Service].
func (k keyed) CreateGasSwap(ctx context.Context, in swapper.CreateGasSwapInput) (*swapper.CreateSwapOutput, error) {
	return k.keep(k.Service.CreateGasSwap(ctx, in))
}

// keep writes the key of a swap to disk, before the swap is shown.
func (k keyed) keep(s *swapper.CreateSwapOutput, err error) (*swapper.CreateSwapOutput, error) {
	if err != nil || s.SwapKey == "" {
		return s, err
	}
	if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(k.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(file, "%s %s\n", s.SwapID, s.SwapKey.Reveal())
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return nil, err
	}
	return s, nil
}

// GetSwapStatus implements [swapper.Service].
func (k keyed) GetSwapStatus(ctx context.Context, in swapper.GetSwapStatusInput) (_ *swapper.GetSwapStatusOutput, err error) {
	if in.SwapKey, err = k.key(in.SwapID); err != nil {
		return nil, err
	}
	return k.Service.GetSwapStatus(ctx, in)
}

// SubmitTransaction implements [swapper.Service].
func (k keyed) SubmitTransaction(ctx context.Context, in swapper.SubmitTransactionInput) (_ *swapper.SubmitTransactionOutput, err error) {
	if in.SwapKey, err = k.key(in.SwapID); err != nil {
		return nil, err
	}
	return k.Service.SubmitTransaction(ctx, in)
}

// SettleWithLnurl implements [swapper.Service].
func (k keyed) SettleWithLnurl(ctx context.Context, in swapper.SettleWithLnurlInput) (_ *swapper.SettleWithLnurlOutput, err error) {
	if in.SwapKey, err = k.key(in.SwapID); err != nil {
		return nil, err
	}
	return k.Service.SettleWithLnurl(ctx, in)
}

// key finds the key of a swap; "" for one that was created elsewhere.
func (k keyed) key(id string) (swapper.Secret, error) {
	file, err := os.Open(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if of, key, ok := strings.Cut(lines.Text(), " "); ok && of == id {
			return swapper.Secret(key), nil
		}
	}
	return "", lines.Err()
}
