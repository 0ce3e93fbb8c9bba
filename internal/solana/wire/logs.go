package wire

import (
	"encoding/base64"
	"strings"
)

// maxEvent is more than any event of the programs has, in base64 characters.
const maxEvent = 1024

// eventData returns what a program has emitted in a transaction, as the lines of the
// transaction's log tell it: a stack of programs is kept, so that what others log, or
// programs that it calls, is not taken for its own (§9). truncated says that the node
// left lines out: then events may be missing. Logs are a node's word.
func eventData(program Key, logs []string) (events [][]byte, truncated bool) {
	name := program.String()
	var stack []bool // of the programs under way: whether each is the one
	for _, line := range logs {
		if line == "Log truncated" {
			truncated = true
			continue
		}
		data, says := strings.CutPrefix(line, "Program data: ")
		if !says {
			data, says = strings.CutPrefix(line, "Program log: ")
		}
		if says {
			if len(stack) == 0 || !stack[len(stack)-1] || len(data) > maxEvent {
				continue
			}
			// Events of two parts and plain texts are none of the programs'.
			if b, err := base64.StdEncoding.DecodeString(data); err == nil && len(b) >= len(Discriminator{}) {
				events = append(events, b)
			}
			continue
		}
		switch fields := strings.Split(line, " "); {
		case len(fields) == 4 && fields[0] == "Program" && fields[2] == "invoke":
			stack = append(stack, fields[1] == name)
		case len(fields) >= 3 && fields[0] == "Program" && (fields[2] == "success" && len(fields) == 3 || fields[2] == "failed:") && len(stack) > 0:
			stack = stack[:len(stack)-1]
		}
	}
	return events, truncated
}
