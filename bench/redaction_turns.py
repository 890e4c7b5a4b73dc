"""What people and agents say around a secret: paragraphs of coding chat without any."""

from random import Random

SIZE = 2048

PARAGRAPHS = (
    "I looked at the failing job. The image builds, the tests pass, and then the deploy step stops "
    "with exit code 1 because the health check never answers on port 8080. The container listens on "
    "127.0.0.1 instead of 0.0.0.0, so nothing outside can reach it.",
    "```python\nasync def fetch(client: httpx.AsyncClient, url: str) -> bytes:\n"
    "    response = await client.get(url, timeout=10)\n    response.raise_for_status()\n"
    "    return response.content\n```",
    "Can you split that into two functions? One that reads the configuration and one that opens the "
    "pool. I'd like to test the first without a database, and the second only once in the integration "
    "tests.",
    "Done. `load_settings()` now returns a frozen dataclass and `open_pool(settings)` takes it. I moved "
    "the retry loop into `connect.py` and wrote four tests; all 212 pass in 14.3 seconds.",
    "Kurze Frage noch: Warum läuft die Migration auf dem Server doppelt so lang wie hier? Die Tabelle "
    "hat 1,4 Millionen Zeilen, und der Index wird danach neu gebaut. Ich vermute die Platte.",
    "```\nTraceback (most recent call last):\n  File \"/srv/app/harbor/orders/views.py\", line 118, in post\n"
    "    order = await service.place(request)\n  File \"/srv/app/harbor/orders/service.py\", line 57, in place\n"
    "    raise OutOfStock(item.sku)\nharbor.errors.OutOfStock: SKU-20418\n```",
    "The plan: 1. add the column as nullable, 2. backfill in batches of 5,000, 3. set NOT NULL with a "
    "validated check constraint, 4. drop the old column a week later. No lock lasts longer than 2 s.",
    "```diff\n--- a/src/cart/total.ts\n+++ b/src/cart/total.ts\n@@ -12,7 +12,7 @@\n"
    "-  return items.reduce((sum, item) => sum + item.price, 0);\n"
    "+  return items.reduce((sum, item) => sum + item.price * item.count, 0);\n```",
    "我看了一下日志，问题出在缓存没有失效。更新订单以后，列表页还是显示旧的数据，大概要等五分钟才会刷新。"
    "建议在写入之后直接删除对应的键。",
    "| step | before | after |\n| --- | --: | --: |\n| install | 94 s | 21 s |\n| build | 61 s | 58 s |\n"
    "| test | 188 s | 47 s |\n\nMost of it is the cache of `node_modules` and running the tests by four.",
    "One more thing: the README says Node 18, the Dockerfile uses 22, and the workflow 20. Pick 22 "
    "everywhere? I'd also pin the package manager, since two of us use different ones.",
    "```yaml\nservices:\n  web:\n    image: registry.example.com/shop/web:2.14.0\n    ports: [\"8080:8080\"]\n"
    "    healthcheck:\n      test: curl -fsS http://localhost:8080/health\n      interval: 10s\n```",
    "Yes, that's right. I ran `EXPLAIN (ANALYZE, BUFFERS)` on it: a sequential scan over 220,000 rows, "
    "41 ms. With an index on (customer_id, placed_at DESC) it is an index scan of 0.3 ms.",
    "Let's not do that on a Friday. Write it down as a task for Monday, with the three commands and how "
    "to go back, and tell Priya that the report will be late.",
)


def turn(rng: Random, passage: str, size: int = SIZE) -> str:
    """A turn of at least `size` bytes that says `passage` among other things."""
    said: list[str] = []
    while sum(len(part.encode()) + 2 for part in said) + len(passage.encode()) < size:
        said.extend(rng.sample(PARAGRAPHS, 2))
    said.insert(rng.randrange(1, len(said) + 1), passage)
    return "\n\n".join(said)
