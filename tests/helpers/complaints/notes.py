"""Notes and sessions for the complaints' queries. `{60}` in a name or a text is the day 60 days ago."""

NOTES = {
    "projects/greenhouse.md": """\
---
tags: [garden, irrigation]
---
# Greenhouse

## Watering

The irrigation timer skipped the second run again on Tuesday. The left valve sticks when the pressure drops below
1.2 bar, and the relay does not report it.

## Harvest

Radishes in the first week of April, if the slugs leave any.
""",
    "projects/rock-rms.md": """\
# Parish software

We keep the member lists in Rock RMS. Its mobile app shows the groups, but not yet the calendar. Tomasz looks after
the server.
""",
    "ops/mes-rollout.md": """\
# Line 4

The MES goes live on line 4 after the summer shutdown. Until then the shift leads count pallets by hand.
""",
    "ops/scraping.md": """\
# Price watch

The nightly price watch runs on browserless in the cellar; it needs 2 GB and a restart a week.
""",
    "ops/incidents.md": """\
# Incidents

- PROJ-4821: the import stops with error 0x80070005 when the share is read only.
- INV-2291: paid twice, refunded in March.
- The build fails with E0432 since os.replace moved into the helper foo_bar-baz.
""",
    "retail/bagging.md": """\
# Bagging line

The bagging machine fills forty sacks an hour. Its scale drifts when the hall is cold.
""",
    "retail/customers.md": """\
# Customers

Rocky Point takes mulch in bulk, Norwell Valley takes potting soil.
""",
    "retail/season.md": """\
# Season

Rocky Point wants the bagging done before the first frost, two pallets a week.
""",
    "canary.md": """\
# Passphrases for tests

The phrase of this week is qzv91-lime-orbit. Nobody else uses it.
""",
    "people/anne-marie.md": """\
# Anne-Marie Lefèbvre

She runs the reading circle and lends out the long ladder. Her number is 0171-555-0139.
""",
    "people/marie.md": """\
# Marie Curie school

The school fair is in May; Anne from the parents' board collects the cakes.
""",
    "meetings/2026-03-16.md": """\
# Monday

Token budget, who writes the audit, lunch moved to one.
""",
    "home/kitchen.md": """\
# Kitchen

We have a kettle, a toaster, a mixer and a coffee grinder. The grinder is loud, the mixer is old, the toaster burns
one side, and the drawer below them sticks since the flood. The tiles come in spring, the lamp after that. Ask the
landlord about the tap, the boiler, the window above the sink and who pays for the plumber.
""",
    "home/kettle.md": """\
# Kettle

The kettle drips at the lid. The spare kettle is in the cellar. Descale the kettle with vinegar.
""",
    "zh/backup.md": """\
# 运维

GitHub备份脚本上传失败，原因是令牌过期。SSH铁律服务器只允许密钥登录。这件事的优先级很高。
""",
    "zh/game.md": """\
# 周末

今天玩成语接龙游戏，孩子们都很开心。晚上喝了龙井茶。
""",
    "ja/nikki.md": """\
# 日記

今日は成語しりとりをした。温室の水やりタイマーがまた止まった。
""",
    "ko/ilgi.md": """\
# 일기

오늘 끝말잇기 게임을 했다. 온실의 물주기 타이머가 고장 났다.
""",
    "th/banthuek.md": """\
# บันทึก

เครื่องตั้งเวลารดน้ำในเรือนกระจกเสียอีกแล้ว ต้องซื้อแบตเตอรี่ใหม่
""",
    "de/heizung.md": """\
# Heizung

Die Heizkostenabrechnung für das letzte Jahr ist zu hoch. Der Vermieter hat die Ablesung im Keller verwechselt.
""",
    "ru/poezdka.md": """\
# Поездка

Мы купили два билета на поезд до Риги и забронировали гостиницу у вокзала.
""",
    "home/router.md": """\
# Router

The guest network is called Fledermaus. After a power cut the router needs four minutes before the phone works.
""",
    "home/bread.md": """\
# Rye bread

The dough rests overnight in the fridge, then it bakes for an hour. Do not open the oven before half of that.
""",
    "entry.md": """\
# Test Entry

This note was written by hand to see whether notes are found beside so many sessions.
""",
}

SESSIONS = {
    "zh-review": (20, ["明天下午三点开项目评审会议讨论排期，请大家准备。", "好的，我会把议程发给大家。"]),
    "test-talk": (3, ["Add a test entry to the list of tests.", "I added one entry for the test of the parser."]),
    "test-more": (5, ["Which entry of the test fails?", "The third test entry fails, its name is empty."]),
    "vendor-old": (200, ["The vendor offers the flow meter for 90 euros.", "I noted the flow meter offer."]),
    "vendor-new": (2, ["The vendor offers the flow meter for 70 euros now.", "I noted the new flow meter offer."]),
}
"""Name -> age at its end in days, and the alternating messages of user and agent."""

AGEING = {
    "memory/{60}-1530-vendor-pitch.md": "# Vendor pitch\n\nThe vendor showed a soil sensor with a radio.\n",
    "memory/topics/soil.md": """\
# Soil

A soil sensor belongs at half the depth of the roots. The vendor of ours is in Ghent.
""",
    "memory/dreaming/light/{80}.md": """\
# Light sleep

Candidate: portfolio portfolio positions. Confidence 0.58. Evidence: portfolio positions, portfolio, positions.
""",
    "memory/dreaming/light/{75}.md": """\
# Light sleep

Candidate: positions of the portfolio. Confidence 0.58. Evidence: portfolio positions.
""",
    "memory/finance/portfolio.md": """\
# Portfolio

Current positions: bonds 60, shares 30, cash 10. Rebalanced last week.
""",
    "MEMORY.md": "# Facts\n\nThe bike shed code is on the fridge. The vaccination card is in the blue folder.\n",
    "memory/front.md": "---\ndate: {90}\n---\n# Lease\n\nThe lease of the allotment ends in autumn.\n",
}
"""Notes for ageing, in OpenClaw's layout."""

FEW = {
    "greenhouse.md": "# Greenhouse\n\nThe irrigation timer skipped Tuesday again. #garden\n",
    "shopping.md": "# Shopping\n\nIrrigation hose 16 mm, two T-pieces, spare timer batteries.\n",
    "sunday.md": "# Sunday\n\nTomatoes limp. Probably the watering clock, not the soil.\n",
    "drafts/plan.md": "# Winter plan\n\nInsulate the hive before the frost.\n",
}
"""Notes for the situations with an incomplete index."""

DEAR = "# Long\n\n" + " ".join(f"word{number}" for number in range(3000)) + "\n"
"""Enough text that its embedding would cost some cents."""
