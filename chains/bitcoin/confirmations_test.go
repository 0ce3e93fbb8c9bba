package bitcoin

import (
	"errors"
	"testing"
)

func TestGuessConfirmations(t *testing.T) {
	hash := func(n uint16) ([]byte, error) {
		if n == 2 {
			return nil, errors.New("cannot")
		}
		return []byte{byte(n)}, nil
	}
	for want, ok := range map[byte]bool{0: false, 1: true, 2: false, 3: true, 20: true, 21: false} {
		if n, found := GuessConfirmations([]byte{want}, hash); found != ok || ok && n != uint16(want) {
			t.Errorf("%d: %d, %v", want, n, found)
		}
	}
}
