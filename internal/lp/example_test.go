package lp_test

import (
	"fmt"

	"github.com/swapper-go/swapper/internal/lp"
)

// A refusal of an answer says what the lie was. Only lies are punished.
func ExampleLie() {
	err := lp.Lie("", "total is %d, expected %d", 5, 4)
	fmt.Println(err)
	fmt.Println(lp.Punishable(err))
	err.Recoverable = true
	fmt.Println(lp.Punishable(err))
	// Output:
	// invalid response: total is 5, expected 4
	// true
	// false
}
