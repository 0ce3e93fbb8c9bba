package main

import (
	"flag"
	"fmt"
	"strings"
)

// completion prints a script for a shell that completes commands and their flags. It is
// for a binary that is called cli: go build -o cli ./examples/cli.
func (c *cli) completion(shell string) error {
	var names []string
	var cases strings.Builder
	for _, cmd := range commands {
		names = append(names, cmd.name)
		f := flag.NewFlagSet(cmd.name, flag.ContinueOnError)
		if cmd.flags != nil {
			cmd.flags(f, new(request))
		}
		(&cli{}).flags(f, new(general))
		f.VisitAll(func(f *flag.Flag) {
			if shell == "fish" {
				fmt.Fprintf(&cases, "complete -c cli -n '__fish_seen_subcommand_from %s' -o %s -d '%s'\n", cmd.name, f.Name, strings.ReplaceAll(f.Usage, "'", `\'`))
			}
		})
		if shell != "fish" {
			var flags []string
			f.VisitAll(func(f *flag.Flag) { flags = append(flags, "-"+f.Name) })
			fmt.Fprintf(&cases, "      %s) COMPREPLY=($(compgen -W '%s' -- \"$2\")); return;;\n", cmd.name, strings.Join(flags, " "))
		}
	}
	global := []string{"-url", "-key", "-keys", "-store", "-verify", "-json"}
	script := "_cli() {\n  local word\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case $word in\n" + cases.String() +
		"    esac\n  done\n  COMPREPLY=($(compgen -W '" + strings.Join(append(append(names, "completion", "help", "version"), global...), " ") + "' -- \"$2\"))\n}\ncomplete -F _cli cli\n"
	switch shell {
	case "bash":
	case "zsh":
		script = "autoload -U +X bashcompinit && bashcompinit\n" + script
	case "fish":
		script = "complete -c cli -f\n"
		for _, cmd := range commands {
			script += fmt.Sprintf("complete -c cli -n __fish_use_subcommand -a %s -d '%s'\n", cmd.name, strings.ReplaceAll(cmd.does, "'", `\'`))
		}
		script += cases.String()
	default:
		return misuse{fmt.Errorf("completion is for bash, zsh or fish, not %q", shell)}
	}
	_, err := fmt.Fprint(c.out, script)
	return err
}
