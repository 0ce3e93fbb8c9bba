package lp

import "testing"

// What an LP says of the time that it needs is read; what makes no sense is left
// out, and costs it nothing.
func TestTimeThatAnLPNeeds(t *testing.T) {
	for data, want := range map[string]int64{
		`,"data":{"minCltv":98,"minTimestampCltv":91800}`: 91800,
		`,"data":{"minTimestampCltv":null}`:               0,
		`,"data":{"minTimestampCltv":"91800"}`:            0,
		`,"data":{"minTimestampCltv":-1}`:                 0,
		`,"data":{"minTimestampCltv":1e300}`:              0,
		`,"data":[]`:                                      0,
		`,"data":null`:                                    0,
		``:                                                0,
	} {
		s, err := readService([]byte(`{"swapFeePPM":1,"swapBaseFee":1,"min":1,"max":2,"chainTokens":{}` + data + `}`))
		if err != nil || s.MinTime != want {
			t.Errorf("%s: %d, %v; want %d", data, s.MinTime, err, want)
		}
	}
}
