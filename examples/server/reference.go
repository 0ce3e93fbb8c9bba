package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The reference service's configuration is brought into the form of this one: each of its keys becomes
// one of ours, or a note for the log where it has no effect. docs/operate.md has the table.

// refKeys are the keys of the reference's file, and ours: {"": none}.
var refKeys = map[string]string{
	"port": "listen", "logLevel": "logLevel", "bitcoinNetwork": "bitcoinNetwork", "rateLimit": "rateLimit", "auth": "auth", "cors": "cors", "https": "https", "lpApiAuth": "lps",
	"trustProxy": "trustedProxies", "swapsSyncIntervalSeconds": "", "reloadLpIntervalSeconds": "",
	"starknetRpc": "chains", "solanaRpc": "chains", "botanixRpc": "chains", "citreaRpc": "chains", "alpenRpc": "chains", "goatRpc": "chains",
}

// privateNetworks are those in which a reverse proxy of one's own is.
var privateNetworks = []string{"127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"}

// loadReference reads a file of the reference service and finds what is wrong with it.
func loadReference(path string, environ []string) (*config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	root, err := tree(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	ours, notes, unknown := translate(root)
	folder, err := filepath.Abs(os.Getenv("STORAGE_DIR")) // "" is the folder that the service is started in
	if err != nil {
		return nil, fmt.Errorf("STORAGE_DIR: %w", err)
	}
	if os.Getenv("SWAPPER_STATE") == "" && ours.Kind == yaml.MappingNode { // which stands over it
		set(ours, "store", scalar("!!str", filepath.Join(folder, usualStore), 0))
	}
	c, err := read(ours, path, environ, unknown)
	if err != nil {
		return nil, err
	}
	c.notes = notes
	return c, nil
}

// translate returns a file of the reference as one of ours, what has no effect, and what the reference
// does not know either. Lines stay those of the file.
func translate(root *yaml.Node) (ours *yaml.Node, notes []string, unknown error) {
	ours = mapping(root.Line)
	if root.Kind != yaml.MappingNode {
		return root, nil, nil
	}
	set(ours, "listen", scalar("!!str", ":3000", 0))
	set(ours, "basePath", scalar("!!str", "/", 0))
	set(ours, "unknownMembers", scalar("!!bool", "true", 0))
	set(ours, "chains", mapping(root.Line))
	chains := child(ours, "chains")
	var all []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		into, known := refKeys[key.Value]
		switch {
		case !known:
			all = append(all, wrong(key, key.Value, "is not a key of the reference service; there are %s", strings.Join(slices.Sorted(maps.Keys(refKeys)), ", ")))
		case value.Tag == "!!null":
		case into == "":
			notes = append(notes, key.Value+" has no effect: swaps are followed all the time, and providers are loaded again by themselves")
		case into == "chains":
			id := strings.ToUpper(strings.TrimSuffix(key.Value, "Rpc"))
			if value.Kind != yaml.ScalarNode {
				all = append(all, wrong(value, key.Value, "must be one URL, or null"))
				continue
			}
			set(chains, id, list(value))
			notes = append(notes, fmt.Sprintf("%s has one node, whose lie can cost the whole amount of a swap: set %sCHAINS%s%s to several, such as [https://a.example, https://b.example]", id, prefix, separator, id))
		case key.Value == "port":
			if value.ShortTag() != "!!int" {
				all = append(all, wrong(value, key.Value, "must be a whole number"))
				continue
			}
			set(ours, into, scalar("!!str", ":"+value.Value, key.Line))
		case key.Value == "bitcoinNetwork" && value.Value == "TESTNET":
			set(ours, into, scalar("!!str", "TESTNET3", value.Line))
		case key.Value == "trustProxy":
			switch value.Value {
			case "true":
				networks := make([]*yaml.Node, len(privateNetworks))
				for i, n := range privateNetworks {
					networks[i] = scalar("!!str", n, value.Line)
				}
				set(ours, into, list(networks...))
				notes = append(notes, "trustProxy believes proxies of private networks alone, from the right: set "+prefix+"TRUSTEDPROXIES for others")
			case "false":
			default:
				all = append(all, wrong(value, key.Value, "must be true or false"))
			}
		case key.Value == "cors":
			own, without := corsOf(value)
			set(ours, into, own)
			notes = append(notes, without...)
		case key.Value == "auth":
			own, without := authOf(value)
			set(ours, into, own)
			notes = append(notes, without...)
		default:
			set(ours, into, value)
		}
	}
	return ours, notes, errors.Join(all...)
}

// corsOf leaves out what our own answers to preflights decide.
func corsOf(value *yaml.Node) (own *yaml.Node, notes []string) {
	if value.Kind != yaml.MappingNode {
		return value, nil
	}
	own = mapping(value.Line)
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, v := value.Content[i], value.Content[i+1]
		switch {
		case key.Value == "optionsSuccessStatus" || key.Value == "preflightContinue":
			notes = append(notes, "cors."+key.Value+" has no effect: a preflight is answered with 204")
		case v.Kind == yaml.ScalarNode && v.Tag == "!!str" && slices.Contains([]string{"methods", "allowedHeaders", "exposedHeaders"}, key.Value): // "GET,POST"
			var names []*yaml.Node
			for _, name := range strings.Split(v.Value, ",") {
				names = append(names, scalar("!!str", strings.TrimSpace(name), v.Line))
			}
			own.Content = append(own.Content, key, list(names...))
		default:
			own.Content = append(own.Content, key, v)
		}
	}
	return own, notes
}

// authOf makes tokens as good as the reference has them: exp need not be there.
func authOf(value *yaml.Node) (own *yaml.Node, notes []string) {
	own = copied(value)
	for _, entry := range own.Content {
		if entry.Kind == yaml.MappingNode && child(copied(entry), "type").Value == "jwt" {
			set(entry, "withoutExp", scalar("!!bool", "true", entry.Line))
			notes = []string{"tokens without exp are accepted, as the reference accepts them: they are good for ever; a token must have sub, which the reference does not ask for"}
		}
	}
	return own, notes
}

func scalar(tag, value string, line int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value, Line: line}
}

func mapping(line int) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: line}
}

func list(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: items[0].Line, Content: items}
}

// set gives a key of a mapping a value.
func set(n *yaml.Node, key string, value *yaml.Node) {
	at := child(n, key)
	*at = *value
}
