package main

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// drawQR draws a text as a QR code, two modules in a character: dark ones are blanks, so
// that it is read on a terminal with a dark background and by scanners of inverted codes.
func (c *cli) drawQR(text string) error {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return err
	}
	const quiet = 2 // modules around the code
	light := func(x, y int) bool { return !code.Black(x, y) }
	var out strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			switch {
			case light(x, y) && light(x, y+1):
				out.WriteRune('█')
			case light(x, y):
				out.WriteRune('▀')
			case light(x, y+1):
				out.WriteRune('▄')
			default:
				out.WriteRune(' ')
			}
		}
		out.WriteByte('\n')
	}
	_, err = fmt.Fprint(c.out, out.String())
	return err
}
