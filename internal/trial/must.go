package trial

import "testing"

// Must ends a test at a step that has to succeed and does not, and hands on what the step
// returns: x := trial.Must(f())(t).
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Do is [Must] of a step that returns nothing else: trial.Do(t, f()).
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must2 is [Must] of a step that returns two things.
func Must2[V, W any](v V, w W, err error) func(testing.TB) (V, W) {
	return func(t testing.TB) (V, W) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v, w
	}
}
