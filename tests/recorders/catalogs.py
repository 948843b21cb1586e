"""Catalogs of any size, made out of a real one."""

from dataclasses import replace


def grown(catalog, size):
    """`catalog` with copies of its leaves, three to a new group, until it has `size` of them."""
    groups, leaves = list(catalog.groups), list(catalog.leaves)
    for n in range(len(leaves), size):
        source = catalog.leaves[n % len(catalog.leaves)]
        if n % 3 == 0 or len(groups) == len(catalog.groups):
            model = catalog.groups[n % len(catalog.groups)]
            members = tuple(f"{catalog.leaves[k % len(catalog.leaves)].channel}-{k}" for k in range(n, n + 3))
            groups.append(replace(model, name=f"channels-more-{n}", members=members))
        name = f"{source.channel}-{n}"
        leaves.append(replace(source, name=f"search-{name}", channel=name, groups=(groups[-1].name,)))
    return replace(catalog, version=f"grown-{size}", groups=tuple(groups), leaves=tuple(leaves))
