package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Minor versions of the interface at which something changed. They are all of 0.x.
const (
	oldest        = 7
	v08           = 8 // three kinds of gas
	v09           = 9 // "pre_confirmed" in the place of "pending", "l1_accepted"
	newestVersion = 10
)

// readVersion reads the answer to starknet_specVersion. A version that is newer than
// those that are known is spoken to like the newest of them.
func readVersion(answer json.RawMessage) (int, error) {
	var text string
	if json.Unmarshal(answer, &text) != nil || len(text) > 64 {
		return 0, errors.New("did not return the version of the interface that it speaks")
	}
	parts := strings.SplitN(text, ".", 3)
	if len(parts) >= 2 {
		major, err := strconv.ParseUint(parts[0], 10, 8)
		minor, err2 := strconv.ParseUint(strings.TrimRight(parts[1], "abcdefghijklmnopqrstuvwxyz-"), 10, 16)
		switch {
		case err != nil || err2 != nil:
		case major > 0 || minor > newestVersion:
			return newestVersion, nil
		case minor >= oldest:
			return int(minor), nil
		default:
			return 0, fmt.Errorf("speaks version %s of the interface, must be 0.%d or newer", text, oldest)
		}
	}
	return 0, errors.New("did not return the version of the interface that it speaks")
}

// preConfirmed is how a version calls the block that is being made.
func preConfirmed(version int) any {
	if version < v09 {
		return "pending"
	}
	return "pre_confirmed"
}
