package swapper

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/swapper-go/swapper/internal/swap"
)

// Timestamp is a time that is an integer in JSON, of milliseconds since the Unix epoch; the
// zero Timestamp is 0.
type Timestamp struct{ time.Time }

// timestampOf is the zero Timestamp for a time that was not noted.
func timestampOf(ms swap.Millis) Timestamp {
	if ms == 0 {
		return Timestamp{}
	}
	return Timestamp{ms.Time()}
}

// UnixMilli returns the number that stands for the timestamp in JSON.
func (t Timestamp) UnixMilli() int64 {
	if t.IsZero() {
		return 0
	}
	return t.Time.UnixMilli()
}

// MarshalJSON implements [json.Marshaler].
func (t Timestamp) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, t.UnixMilli(), 10), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Timestamp) UnmarshalJSON(text []byte) error {
	ms := t.UnixMilli() // which null leaves
	if err := json.Unmarshal(text, &ms); err != nil {
		return fmt.Errorf("a time must be a whole number of milliseconds since the Unix epoch, not %.40s", text)
	}
	*t = timestampOf(swap.Millis(ms))
	return nil
}

// seconds is a duration as JSON has it, -1 for an unknown one.
func seconds(d time.Duration) float64 {
	if d < 0 {
		return -1
	}
	return d.Seconds()
}

// duration reads what seconds returns; name is the member's.
func duration(name string, s float64) (time.Duration, error) {
	const most = math.MaxInt64 / int64(time.Second)
	switch {
	case s < 0:
		return -time.Second, nil
	case s > float64(most):
		return 0, fmt.Errorf("%s: must be at most %d, not %g", name, most, s)
	}
	return time.Duration(math.Round(s*1e3)) * time.Millisecond, nil
}
