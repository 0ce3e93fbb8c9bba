package lp

import "net/url"

// Host returns what of an LP's URL all its services share.
func Host(base string) string {
	if u, err := url.Parse(base); err == nil {
		return u.Host
	}
	return base
}
